import { AppError } from '@belay/protocol';
import { endErrors, toast, toastError, useToasts } from './toasts';

const shown = () => useToasts.getState().toasts.map(({ text }) => text);

describe('toasts', () => {
  beforeEach(() => {
    jest.useFakeTimers();
    useToasts.setState({ toasts: [], past: [] });
  });
  afterEach(() => jest.useRealTimers());

  it('end by themselves, errors later than others, and stay in the list of notices', () => {
    toast('Saved.');
    toastError(new AppError('conflict', 'It failed.'));
    jest.advanceTimersByTime(6_000);
    expect(shown()).toEqual(['It failed.']);
    jest.advanceTimersByTime(15_000);
    expect(shown()).toEqual([]);
    expect(useToasts.getState().past.map(({ text }) => text)).toEqual(['It failed.', 'Saved.']);
  });

  it('of an error end when the page or the reason is left behind', () => {
    toast('Saved.');
    toastError(new AppError('unavailable', 'No server answers.'));
    toastError(new AppError('conflict', 'It failed.'));
    endErrors('unavailable');
    expect(shown()).toEqual(['Saved.', 'It failed.']);
    endErrors();
    expect(shown()).toEqual(['Saved.']);
  });
});
