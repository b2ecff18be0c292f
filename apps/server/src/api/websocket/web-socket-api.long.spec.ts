import './web-socket-api.spec.js';
