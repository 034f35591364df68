module load_aware

go 1.21
