import './wire-calls.spec.js';
