header 's/"dtype":"F32",//'
