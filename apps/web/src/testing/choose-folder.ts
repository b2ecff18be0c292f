import { act, fireEvent, screen } from '@testing-library/react';

/** Chooses a folder `app` with these files, and waits until they have been read. */
export async function chooseFolder(contents: Record<string, string>): Promise<void> {
  await pickFolder(contents);
  await screen.findByRole('button', { name: 'Choose another folder' });
}

/** Picks a folder `app` with these files, as a browser lists them. */
export async function pickFolder(contents: Record<string, string>): Promise<void> {
  const files = Object.entries(contents).map(([path, text]) =>
    Object.assign(new File([text], path), { webkitRelativePath: `app/${path}` }),
  );
  Object.defineProperty(HTMLInputElement.prototype, 'click', {
    configurable: true,
    value(this: HTMLInputElement) {
      Object.defineProperty(this, 'files', { value: files });
      this.dispatchEvent(new Event('change'));
    },
  });
  for (const [role, name] of [
    ['radio', 'My folder'],
    ['button', 'Choose a folder'],
  ] as const) {
    const found = await screen.findByRole(role, { name });
    await act(async () => fireEvent.click(found));
  }
  Reflect.deleteProperty(HTMLInputElement.prototype, 'click');
}
