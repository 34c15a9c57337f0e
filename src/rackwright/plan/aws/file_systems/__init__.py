"""File systems of AWS: FSx for Lustre and EFS, and how nodes reach them."""
