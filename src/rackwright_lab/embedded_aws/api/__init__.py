"""Calls of the AWS API that moto lacks, and images for lab hosts."""
