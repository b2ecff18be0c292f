import './open-api.spec.js';
