@echo off
kubectl-spy __complete %*
