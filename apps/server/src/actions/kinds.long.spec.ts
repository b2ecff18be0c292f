import './kinds.spec.js';
