header 's/"F32"/"F99"/'
