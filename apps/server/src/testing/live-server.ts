import type { LiveServer } from '../storage/live-servers.js';

/** Another server of a database as a test plays it: alive, on another engine, and not the one that leads. */
export const liveServer = (more: Partial<LiveServer> = {}): LiveServer => ({
  id: 'other',
  address: '',
  key: '',
  leads: false,
  instance: null,
  sandboxes: 0,
  capacity: 1,
  ...more,
});
