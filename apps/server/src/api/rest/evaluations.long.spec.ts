import './evaluations.spec.js';
