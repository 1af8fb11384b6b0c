config intermediate_size -112
