// Numbers, times and plurals in words.

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(digits - 1).replace("-", "−");
  const places = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const text = value.toLocaleString("en", {
    minimumFractionDigits: Math.min(places, 6),
    maximumFractionDigits: Math.min(places, 6),
  });
  return text.replace("-", "−");
}

export const whole = (value) =>
  value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en");
export function percent(value) {
  if (value === null || value === undefined) return "–";
  if (value < -10) return "below −1,000 %"; // of what hardly varies, everything is too much
  return `${Math.round(100 * value)} %`.replace("-", "−");
}
export const count = (many, one, more = `${one}s`) => `${whole(many)} ${many === 1 ? one : more}`;

export function seconds(age) {
  if (age < 0) age = 0;
  if (age < 60) return `${Math.floor(age)} s`;
  if (age < 3600) return `${Math.floor(age / 60)} min ${Math.floor(age % 60)} s`;
  if (age < 86400) return `${Math.floor(age / 3600)} h ${Math.floor((age % 3600) / 60)} min`;
  return `${Math.floor(age / 86400)} d ${Math.floor((age % 86400) / 3600)} h`;
}

// Times come as ISO text or as seconds since 1970.
export const instant = (time) => (typeof time === "number" ? 1000 * time : Date.parse(time));
export const since = (time) => (time ? seconds((Date.now() - instant(time)) / 1000) : "–");

export function clock(time) {
  if (!time) return "–";
  const at = new Date(instant(time));
  const today = new Date().toDateString() === at.toDateString();
  const hours = at.toLocaleTimeString("en-GB");
  return today ? hours : `${at.toLocaleDateString("en-CA")} ${hours}`;
}

export function list(names, most = 6) {
  if (!names || !names.length) return "none";
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${whole(names.length - most)} more` : shown;
}
