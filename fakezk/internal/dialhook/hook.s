// It lets the package have functions without a body.
