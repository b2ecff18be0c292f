import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./send-pull-text.spec.js'));
