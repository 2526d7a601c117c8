module shmoo

go 1.26.0
