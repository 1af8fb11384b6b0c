header 's/"shape":\[583,64\],//'
