import { newEvent, type NewEvent, type SessionSettings } from '@belay/protocol';

/** The event with which a session starts, or starts `again`. */
export function startEvent(settings: SessionSettings, again: boolean): NewEvent {
  const message = again ? 'The session is restarting.' : settings.task;
  return newEvent('user', 'start', { args: { ...settings, again }, message });
}

export const pauseEvent = (): NewEvent =>
  newEvent('user', 'pause', { args: {}, message: 'Paused.' });
