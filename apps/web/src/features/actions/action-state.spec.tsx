import { screen } from '@testing-library/react';
import { actionManifest, permissionSentences, type InstalledAction } from '@belay/protocol';
import { renderWeb } from '@/testing/render-web';
import { time } from '@/testing/session-log';
import { ActionSecrets } from './action-secrets';
import { ActionState } from './action-state';

const speech = (permissions: object, missingSecrets: string[]): InstalledAction => ({
  name: 'speech',
  kind: 'action',
  manifest: actionManifest.parse({
    name_for_human: 'Speech',
    name_for_model: 'speech',
    description_for_human: 'Speaks.',
    description_for_model: 'Speaks.',
    permissions,
  }),
  readme: null,
  source: { from: 'me/speech', version: null, commit: null, folder: '' },
  enabled: true,
  installed: time,
  state: 'ready',
  error: null,
  missingSecrets,
});
const optional = { secrets: ['KEY', 'VOICE'], optional_secrets: ['VOICE'] };

it('only counts missing secrets that are required', async () => {
  await renderWeb(<ActionState action={speech(optional, ['KEY', 'VOICE'])} />);
  await screen.findByText('1 secret not set');
});

it('is on without its optional secrets, which are marked as such', async () => {
  const action = speech(optional, ['VOICE']);
  await renderWeb(
    <>
      <ActionState action={action} />
      <ActionSecrets action={action} />
    </>,
  );
  await screen.findByText('on');
  screen.getByText('optional');
  screen.getByText('set');
  expect(permissionSentences(action.manifest)).toEqual(
    expect.arrayContaining(['Is given the secret KEY.', 'Can be given the secret VOICE.']),
  );
});

it('rejects optional secrets that are not declared', () => {
  expect(() => speech({ optional_secrets: ['VOICE'] }, [])).toThrow('names what is not in secrets');
});
