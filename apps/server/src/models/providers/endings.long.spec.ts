import './endings.spec.js';
