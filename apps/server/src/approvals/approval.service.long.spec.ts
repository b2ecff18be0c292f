import './approval.service.spec.js';
