// The plotting library is a third of everything: it is loaded when a curve is shown.
export { default } from "uplot";
