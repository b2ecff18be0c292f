import './socket.spec.js';
