import { newEvent, type NewEvent } from './events.js';
import { sessionSettings, type SessionState } from './session.js';
import { wallSeconds, wallTimeAfter, workTimeAfter } from './wall-time.js';

const settings = sessionSettings.parse({ task: 'Fix', model: 'scripted:x' });
const state = (name: SessionState) =>
  newEvent('server', 'state', { args: { state: name, reason: null }, message: name });
const start = newEvent('user', 'start', { args: { ...settings, again: true }, message: 'Again' });
const fork = newEvent('server', 'fork', { args: { session: 't', seq: 3 }, message: 'Forked' });

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString();

/** Hours that a session has run at ten o'clock. */
const hours = (events: [hour: number, NewEvent][], after = wallTimeAfter) => {
  const wallTime = events.reduce(
    (known, [hour, event], index) => after(known, { ...event, seq: index + 1, time: at(hour) }),
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
  ['is paused and resumes', [...begun, [1, state('paused')], [2, state('running')]], 10],
  ['has ended', ended, 1],
  ['has ended twice over', [...ended, [5, state('stopped')]], 1],
  ['has begun again', [...ended, [9, start]], 2],
  ['is a fork', [...ended, [9, fork], [9, start]], 1],
] as [string, [number, NewEvent][], number][])('counts while a session %s', (_, events, wanted) => {
  expect(hours(events)).toBe(wanted);
});

it.each(['paused', 'waiting'] as const)('is not work while a session is %s', (rest) => {
  const events: [number, NewEvent][] = [...begun, [1, state(rest)], [4, state('running')]];
  expect(hours(events, workTimeAfter)).toBe(7);
  expect(hours(events.slice(0, 3), workTimeAfter)).toBe(1);
  expect(hours([...events, [5, state('finished')]], workTimeAfter)).toBe(2);
});
