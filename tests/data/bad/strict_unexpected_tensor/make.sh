header 's/"model.norm.weight":/"surplus":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},&/'
