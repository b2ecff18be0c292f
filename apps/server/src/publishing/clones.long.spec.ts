import './clones.spec.js';
