header 's/"F32"/"I32"/'
