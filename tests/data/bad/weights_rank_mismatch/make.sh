header 's/"model.norm.weight":{"dtype":"F32","shape":\[64\]/"model.norm.weight":{"dtype":"F32","shape":[64,1]/'
