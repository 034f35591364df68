// SPDX-License-Identifier: Apache-2.0
// What the shells are told. PROGRAM stands for the program's name.
#include "kubeschedctl/cli/completion.h"

namespace ks::ctl {
namespace {

// Words are taken from the line, as readline breaks them at "=" and ":"; what it then replaces is
// the part behind the last of these.
constexpr std::string_view kBash = R"(# bash completion for PROGRAM
_PROGRAM_complete() {
  local line=${COMP_LINE:0:COMP_POINT} words answer directive candidate typed before
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  typed=${words[${#words[@]} - 1]}
  before=${typed%"${typed##*[=:]}"}
  answer=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return
  directive=${answer##*:}
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    [[ $candidate == :* ]] || COMPREPLY+=("${candidate#"$before"}")
  done <<<"$answer"
  ((${#COMPREPLY[@]})) && return
  case $directive in
    0) compopt -o default ;;
    16) compopt -o dirnames ;;
  esac
}
complete -F _PROGRAM_complete PROGRAM
)";

constexpr std::string_view kZsh = R"(#compdef PROGRAM
# zsh completion for PROGRAM
_PROGRAM() {
  local -a answer candidates
  local line directive
  answer=("${(@f)$(${words[1]} __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  directive=${answer[-1]#:}
  for line in "${(@)answer[1,-2]}"; do
    candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if ((${#candidates})); then
    _describe -t candidates PROGRAM candidates
  elif [[ $directive == 16 ]]; then
    _files -/
  elif [[ $directive == 0 ]]; then
    _files
  fi
}
if [[ ${funcstack[1]} == _PROGRAM ]]; then
  _PROGRAM "$@"
else
  compdef _PROGRAM PROGRAM
fi
)";

constexpr std::string_view kFish = R"(# fish completion for PROGRAM
function __PROGRAM_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l answer ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
  or return
  set -l directive $answer[-1]
  set -e answer[-1]
  if test (count $answer) -gt 0
    printf '%s\n' $answer
  else if test "$directive" = :16
    __fish_complete_directories "$typed"
  else if test "$directive" = :0
    __fish_complete_path "$typed"
  end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
)";

constexpr std::string_view kKubectl = R"(#!/bin/sh
# kubectl asks this file, kubectl_complete-sched on the PATH, how "kubectl sched ..." goes on.
exec kubectl sched __complete "$@"
)";

}  // namespace

std::string CompletionScript(std::string_view shell, const std::string& program) {
  constexpr std::string_view kPlace = "PROGRAM";
  std::string script(shell == "bash"      ? kBash
                     : shell == "zsh"     ? kZsh
                     : shell == "fish"    ? kFish
                     : shell == "kubectl" ? kKubectl
                                          : "");
  for (size_t at = script.find(kPlace); at != std::string::npos; at = script.find(kPlace, at)) {
    script.replace(at, kPlace.size(), program);
    at += program.size();
  }
  return script;
}

}  // namespace ks::ctl
