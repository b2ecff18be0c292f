import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./approval-entry.spec'));
