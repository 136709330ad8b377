// This file is empty. Without it the compiler wants a body for labels.
