import './dashboard.gateway.spec.js';
