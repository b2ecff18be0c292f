export * from './belay-client.js';
export * from './live-connection.js';
export * from './rest.js';
export * from './tar-header.js';
