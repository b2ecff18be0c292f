import { causeOfDeath } from './death.js';
import { dockerError, pullFailed } from './docker-errors.js';

const engine = (fields: object): Error => Object.assign(new Error('raw'), fields);

it.each([
  [engine({ code: 'ENOENT' }), 'unavailable', /start it/],
  [engine({ code: 'ECONNREFUSED' }), 'unavailable', /start it/],
  [engine({ code: 'EACCES' }), 'unavailable', /group docker/],
  [
    engine({ statusCode: 500, json: { message: 'write /x: no space left on device' } }),
    'disk_full',
    /free some/,
  ],
  [engine({ statusCode: 400, json: { message: 'bad mount' } }), 'unavailable', /: bad mount\.$/],
])('says what is wrong with the engine: %s', (error, code, sentence) => {
  const said = dockerError(error);
  expect(said.code).toBe(code);
  expect(said.message).toMatch(sentence);
});

it('names the image that is missing, but blames an engine that is away', () => {
  const failed = pullFailed('no/such:1', engine({ message: '(HTTP code 404) x - not known' }));
  expect(failed).toMatchObject({
    code: 'not_found',
    message: 'Image no/such:1 is not on this machine and could not be pulled: not known.',
  });
  expect(pullFailed('any:1', engine({ code: 'ENOENT' })).code).toBe('unavailable');
});

it.each([
  [{ code: 137, outOfMemory: true, error: '' }, /ran out of its 512 MB/],
  [{ code: 137, outOfMemory: false, error: '' }, /was killed/],
  [{ code: 3, outOfMemory: false, error: '' }, /exit code 3\. Its last words: broken/],
  [{ code: 127, outOfMemory: false, error: 'no such file' }, /could not run: no such file/],
  [undefined, /was removed/],
])('names the cause of a death: %j', (exit, sentence) => {
  expect(causeOfDeath(exit, { lastLine: 'broken', memoryMb: 512 })).toMatch(sentence);
});
