import './session.service.spec.js';
