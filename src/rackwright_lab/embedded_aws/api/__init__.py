"""What moto lacks of the AWS API, and images that are fit for lab hosts."""
