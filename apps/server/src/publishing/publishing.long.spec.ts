import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./publishing.spec.js'));
