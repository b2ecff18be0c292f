import './sandbox.service.spec.js';
