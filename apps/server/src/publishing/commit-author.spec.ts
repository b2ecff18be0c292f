import { commitAuthor } from './commit-author.js';

const none = { gitIdentity: null };

it('is the identity of the session, else a user whose name is a mail address, else unknown', async () => {
  const gitIdentity = { name: 'Ada', email: 'ada@example.com' };
  const eve = { id: 'user:1', label: 'eve@example.com' };
  expect(await commitAuthor({ gitIdentity }, eve)).toEqual(gitIdentity);
  expect(await commitAuthor(none, eve)).toEqual({ name: 'eve', email: 'eve@example.com' });
  expect(await commitAuthor(none, { id: 'user:1', label: 'eve' })).toBeNull();
  expect(await commitAuthor(none, { id: 'user:1', label: '<x@y>' })).toBeNull();
});
