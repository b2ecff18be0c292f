import './program-containers.spec.js';
