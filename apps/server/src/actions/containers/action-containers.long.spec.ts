import './action-containers.spec.js';
