import './plan-mode.spec.js';
