export * from './belay-client.js';
export * from './history-files.js';
export * from './live-connection.js';
export * from './rest.js';
export * from './secret-files.js';
export * from './tar-header.js';
