"""What rules share: how they name things, word remedies and hold costs against limits."""
