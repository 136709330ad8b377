// This file is empty. Without it the compiler wants bodies for the functions of the client.
