import './mcp.spec.js';
