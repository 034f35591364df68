{{- define "kubesched.name" -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "kubesched.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "kubesched.name" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name: needed when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "kubesched.lease" -}}
{{- default (include "kubesched.name" .) .Values.leaderElection.resourceName -}}
{{- end -}}

{{- define "kubesched.selector" -}}
app.kubernetes.io/name: kubesched
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kubesched.labels" -}}
{{ include "kubesched.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* The KubeSchedulerConfiguration as a map. */}}
{{- define "kubesched.configuration" -}}
{{- $election := dict "leaderElect" .Values.leaderElection.enabled "resourceName" (include "kubesched.lease" .) "resourceNamespace" .Release.Namespace -}}
{{- range $field := list "leaseDuration" "renewDeadline" "retryPeriod" -}}
{{- with index $.Values.leaderElection $field -}}{{- $_ := set $election $field . -}}{{- end -}}
{{- end -}}
{{- $profiles := default (list (dict "schedulerName" .Values.schedulerName)) .Values.profiles -}}
{{- $base := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" "leaderElection" $election "profiles" $profiles -}}
{{- toYaml (merge $base .Values.extraConfiguration) -}}
{{- end -}}
