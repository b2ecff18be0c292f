import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./doctor.spec.js'));
