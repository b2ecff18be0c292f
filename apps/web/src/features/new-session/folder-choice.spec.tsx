import { useState } from 'react';
import { act, fireEvent, screen } from '@testing-library/react';
import { chooseFolder, pickFolder } from '@/testing/choose-folder';
import { renderWeb } from '@/testing/render-web';
import type { SessionForm } from './session-form';
import { WorkspaceField } from './workspace-field';

function Workspace() {
  const [value, setValue] = useState<SessionForm['workspace']>({ kind: 'empty' });
  return <WorkspaceField value={value} examples={[]} onChange={setValue} />;
}
const choose = async (name: string) => {
  const kind = await screen.findByRole('radio', { name });
  await act(async () => fireEvent.click(kind));
};

it('keeps another workspace that was chosen while the folder was read', async () => {
  await renderWeb(<Workspace />);
  let finish = (): void => undefined;
  const read = new Promise<string>((resolve) => (finish = () => resolve('hello')));
  const slow = jest.spyOn(File.prototype, 'text').mockImplementation(() => read);
  await pickFolder({ 'a.txt': 'hello' });
  await screen.findByText(/^Reading the folder/);
  await choose('Git repository');
  await act(async () => finish());
  expect(slow).toHaveBeenCalled();
  screen.getByLabelText(/^Repository/);
  slow.mockRestore();
  await choose('Empty');
  await chooseFolder({ 'a.txt': 'hello' });
  await screen.findByText('app: 1 file, 5 B');
});
