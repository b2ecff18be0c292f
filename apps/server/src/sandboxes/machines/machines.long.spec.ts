import './machines.spec.js';
