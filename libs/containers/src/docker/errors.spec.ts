import { dockerError, isConflict, isGone, pullFailed } from './errors.js';

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
])('reports what is wrong with the engine: %s', (error, code, sentence) => {
  const reported = dockerError(error);
  expect(reported.code).toBe(code);
  expect(reported.message).toMatch(sentence);
});

it('names the image that is missing, but blames an engine that is away', () => {
  const failed = pullFailed('no/such:1', engine({ message: '(HTTP code 404) x - not known' }));
  expect(failed).toMatchObject({
    code: 'not_found',
    message:
      'Image no/such:1 is not on this machine and could not be pulled: there is no such image there, or it needs a login. Check the name, or have it pulled on this machine first.',
  });
  expect(pullFailed('any:1', engine({ code: 'ENOENT' })).code).toBe('unavailable');
});

it('takes for gone what is missing or being removed, and nothing else', () => {
  expect(isGone(engine({ statusCode: 404 }))).toBe(true);
  const removing = { message: 'removal of container x is already in progress' };
  expect(isGone(engine({ statusCode: 409, json: removing }))).toBe(true);
  const used = engine({ statusCode: 409, json: { message: 'image is being used' } });
  expect(isGone(used)).toBe(false);
  expect(isConflict(used)).toBe(true);
});
