import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./prompt-writer.spec.js'));
