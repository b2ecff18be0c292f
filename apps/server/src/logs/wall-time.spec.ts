import { fact, sessionSettings, type NewEvent, type SessionState } from '@belay/protocol';
import { wallSeconds, wallTimeAfter } from './wall-time.js';

const settings = sessionSettings.parse({ task: 'Mend', model: 'scripted:x' });
const state = (name: SessionState) =>
  fact('server', 'state', { args: { state: name, reason: null }, message: name });
const start = fact('user', 'start', { args: { ...settings, again: true }, message: 'Again' });
const fork = fact('server', 'fork', { args: { session: 't', seq: 3 }, message: 'Forked' });

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();

/** Hours that a session has run at ten o'clock. */
const hours = (...events: [hour: number, NewEvent][]) => {
  const wallTime = events.reduce(
    (known, [hour, event], index) =>
      wallTimeAfter(known, { ...event, seq: index + 1, time: at(hour) }),
    { seconds: 0, since: null as string | null },
  );
  return wallSeconds(wallTime, at(10)) / 3600;
};

const begun: [number, NewEvent][] = [
  [0, start],
  [0, state('running')],
];
const ended: [number, NewEvent][] = [...begun, [1, state('finished')]];

it.each([
  ['runs', begun, 10],
  ['is paused and goes on', [...begun, [1, state('paused')], [2, state('running')]], 10],
  ['has ended', ended, 1],
  ['has ended twice over', [...ended, [5, state('stopped')]], 1],
  ['has begun again', [...ended, [9, start]], 2],
  ['is a fork', [...ended, [9, fork], [9, start]], 1],
] as [string, [number, NewEvent][], number][])('counts while a session %s', (_, events, wanted) => {
  expect(hours(...events)).toBe(wanted);
});
